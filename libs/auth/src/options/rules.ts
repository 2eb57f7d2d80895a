/** What the value of an option must be. */
export interface Rule<T> {
  /** What to write instead of a wrong value; completes "write ...". */
  readonly write: string;
  /** The bounds of a number, as the documentation gives them. */
  readonly range?: string;
  readonly accepts: (value: unknown) => value is T;
}

export const boolean: Rule<boolean> = { write: 'true or false', accepts: (value) => typeof value === 'boolean' };

export function text(write: string, minLength = 1): Rule<string> {
  return { write, accepts: (value): value is string => typeof value === 'string' && value.length >= minLength };
}

export function texts(write: string): Rule<readonly string[]> {
  return {
    write,
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.every((one) => typeof one === 'string'),
  };
}

/** A token of RFC 6265 to which a prefix can be added: browsers give names with one of theirs another meaning. */
export const cookieName: Rule<string> = {
  write: "letters, digits and any of !#$%&'*+-.^_`|~, without a prefix such as __Host-",
  accepts: (value): value is string =>
    typeof value === 'string' && /^[\w!#$%&'*+\-.^`|~]+$/.test(value) && !/^__(?:host|secure|http)-/i.test(value),
};

export function oneOf<T extends string>(...values: readonly T[]): Rule<T> {
  return {
    write: `one of ${values.map((one) => `'${one}'`).join(', ')}`,
    accepts: (value): value is T => (values as readonly unknown[]).includes(value),
  };
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Rule<number> {
  const isUnbounded = max === Number.MAX_SAFE_INTEGER;
  return {
    write: isUnbounded ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`,
    range: isUnbounded ? `at least ${min}` : `${min} to ${max}`,
    accepts: (value): value is number =>
      Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  };
}

/** A duration of at most a hundred years: more is a mistake. */
export function seconds(min: number): Rule<number> {
  const most = 3_155_760_000;
  return {
    ...integer(min, most),
    write: `a whole number from ${min} to ${most} (100 years)`,
    range: `${min} ${min === 1 ? 'second' : 'seconds'} to 100 years`,
  };
}

export function orFalse<T>(rule: Rule<T>): Rule<T | false> {
  return {
    ...rule,
    write: `${rule.write}, or false`,
    accepts: (value): value is T | false => value === false || rule.accepts(value),
  };
}

/** The cost of bcrypt: a cheap one makes tests fast and passwords weak. */
export const bcryptCost: Rule<number> = {
  write: "a whole number from 10 to 15 (4 to 9 only where NODE_ENV is 'test')",
  range: '10 to 15; 4 to 9 only where `NODE_ENV` is `test`',
  accepts: (value): value is number => integer(process.env['NODE_ENV'] === 'test' ? 4 : 10, 15).accepts(value),
};

/** A class, whatever it extends. */
export function aClass(write: string): Rule<new () => object> {
  return { write, accepts: (value): value is new () => object => typeof value === 'function' && 'prototype' in value };
}

/** A class that extends one of the library's, or an instance of such a class. */
export function extending<T extends object>(
  base: abstract new () => T,
  write = `a class that extends ${base.name}, or an instance of one`,
): Rule<(new (...args: never[]) => T) | T> {
  return {
    write,
    accepts: (value): value is T =>
      value instanceof base || (typeof value === 'function' && value.prototype instanceof base),
  };
}
