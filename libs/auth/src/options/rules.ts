/** A rule for the value of an option. */
export interface Rule<T> {
  /** Describes the valid values. Completes the phrase "use ..." in error messages. */
  readonly expected: string;
  /** The range of a number, as docs/options.md shows it. */
  readonly range?: string;
  readonly accepts: (value: unknown) => value is T;
}

export const boolean: Rule<boolean> = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };

export function text(expected: string, minLength = 1): Rule<string> {
  return { expected, accepts: (value): value is string => typeof value === 'string' && value.length >= minLength };
}

export function textList(expected: string): Rule<readonly string[]> {
  return {
    expected,
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.every((one) => typeof one === 'string'),
  };
}

/**
 * A cookie name (RFC 6265) without a prefix, because browsers treat prefixes specially. If `cookies.secure` is true,
 * the library adds `__Host-` itself.
 */
export const cookieName: Rule<string> = {
  expected: "letters, digits and any of !#$%&'*+-.^_`|~, without a prefix such as __Host-",
  accepts: (value): value is string =>
    typeof value === 'string' && /^[\w!#$%&'*+\-.^`|~]+$/.test(value) && !/^__(?:host|secure|http)-/i.test(value),
};

export function oneOf<T extends string>(...values: readonly T[]): Rule<T> {
  return {
    expected: `one of ${values.map((one) => `'${one}'`).join(', ')}`,
    accepts: (value): value is T => (values as readonly unknown[]).includes(value),
  };
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Rule<number> {
  const isUnbounded = max === Number.MAX_SAFE_INTEGER;
  return {
    expected: isUnbounded ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`,
    range: isUnbounded ? `at least ${min}` : `${min} to ${max}`,
    accepts: (value): value is number =>
      Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  };
}

/** Returns the rule for a duration in seconds, up to 100 years. A longer duration is a mistake. */
export function seconds(min: number): Rule<number> {
  const most = 3_155_760_000;
  return {
    ...integer(min, most),
    expected: `a whole number from ${min} to ${most} (100 years)`,
    range: `${min} ${min === 1 ? 'second' : 'seconds'} to 100 years`,
  };
}

export function orFalse<T>(rule: Rule<T>): Rule<T | false> {
  return {
    ...rule,
    expected: `${rule.expected}, or false`,
    accepts: (value): value is T | false => value === false || rule.accepts(value),
  };
}

/** The cost factor of bcrypt. Low costs make tests fast and hashes weak, so they are accepted only in tests. */
export const bcryptCost: Rule<number> = {
  expected: "a whole number from 10 to 15 (4 to 9 only if NODE_ENV is 'test')",
  range: '10 to 15; 4 to 9 only if `NODE_ENV` is `test`',
  accepts: (value): value is number => integer(process.env['NODE_ENV'] === 'test' ? 4 : 10, 15).accepts(value),
};

/** Returns a rule that accepts any class. */
export function anyClass(expected: string): Rule<new () => object> {
  return {
    expected,
    accepts: (value): value is new () => object => typeof value === 'function' && 'prototype' in value,
  };
}

/** Returns a rule that accepts a class that extends the base class, or an instance of such a class. */
export function extending<T extends object>(
  base: abstract new () => T,
  expected = `a class that extends ${base.name}, or an instance of one`,
): Rule<(new (...args: never[]) => T) | T> {
  return {
    expected,
    accepts: (value): value is T =>
      value instanceof base || (typeof value === 'function' && value.prototype instanceof base),
  };
}
