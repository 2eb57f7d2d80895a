/** Matches a change of rows (`INSERT INTO`, `UPDATE` or `DELETE FROM`) and its table. */
const CHANGE =
  /\b(?:INSERT(?:\s+IGNORE)?\s+INTO|REPLACE\s+INTO|MERGE\s+INTO|UPDATE|DELETE\s+FROM)\s+((?:[`"{]?\w+[`"}]?\.)*[`"{]?\w+[`"}]?)/gi;

/** Matches UPDATE where it changes no further table: in a lock, and in the conflict clause of an INSERT. */
const NO_CHANGE = /\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b|\bDO\s+UPDATE\b|\bON\s+DUPLICATE\s+KEY\s+UPDATE\b/gi;

/**
 * Returns the tables whose rows a statement changes, once for each INSERT, UPDATE or DELETE, including those
 * within WITH.
 */
export function writtenTables(sql: string): string[] {
  const texts = /'(?:[^']|'')*'/g;
  return [...sql.replace(texts, "''").replace(NO_CHANGE, ' ').matchAll(CHANGE)].map(([, table]) =>
    table!.replace(/[`"{}]/g, ''),
  );
}
