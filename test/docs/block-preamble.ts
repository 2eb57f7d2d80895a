/** Matches an import, unless it has no names. */
const IMPORT = /^ *import (type )?((?:\* as )?\w+)?,? ?(?:\{([^}]*)\})? ?from '([^']+)';/gm;
/** Matches the beginning of a declaration at the top level. */
const DECLARATION =
  /^(?:(?:export|default|abstract|async) )*(?:const|let|function|class|interface|type) (\w+|\{[^}]*\})/gm;

interface Import {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the code that precedes a block: the imports of earlier blocks, and the imports and declarations of the
 * document's context, of which each is a line. Names that the block imports or declares itself are omitted.
 */
export function preambleOf(code: string, context: string, earlier: readonly { readonly code: string }[]): string {
  const declared = [...code.matchAll(DECLARATION)].flatMap(([, names]) => names!.match(/\w+/g)!);
  const taken = new Set([...importsIn(code).map(({ name }) => name), ...declared]);
  const declarations = [...context.matchAll(/^ *declare \w+ (\w+).*$/gm)].map(([text, name = '']) => ({ name, text }));
  const imported = earlier.flatMap((block) => importsIn(block.code));
  const lines: string[] = [];
  for (const { name, text } of [...importsIn(context), ...declarations, ...imported]) {
    if (!taken.has(name)) lines.push(text);
    taken.add(name);
  }
  return lines.join('\n');
}

function importsIn(code: string): Import[] {
  return [...code.matchAll(IMPORT)].flatMap(([, type = '', whole, named = '', from]) => {
    const clauses = [whole, ...named.split(',').map((specifier) => specifier.trim() && `{ ${specifier.trim()} }`)];
    return clauses.flatMap((clause) => {
      const name = /(\w+)[ }]*$/.exec(clause ?? '')?.[1];
      return name ? [{ name, text: `import ${type}${clause} from '${from}';` }] : [];
    });
  });
}
