/** A change of rows: `INSERT INTO`, `UPDATE` or `DELETE FROM`, and the table that follows. */
const CHANGE =
  /\b(?:INSERT(?:\s+IGNORE)?\s+INTO|REPLACE\s+INTO|MERGE\s+INTO|UPDATE|DELETE\s+FROM)\s+((?:[`"{]?\w+[`"}]?\.)*[`"{]?\w+[`"}]?)/gi;

/** What has the word UPDATE and changes no further table: a lock, and what an INSERT does about a row that is there. */
const NO_CHANGE = /\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b|\bDO\s+UPDATE\b|\bON\s+DUPLICATE\s+KEY\s+UPDATE\b/gi;

/** The tables whose rows a statement changes, once for each INSERT, UPDATE or DELETE in it, those within WITH included. */
export function writtenTables(sql: string): string[] {
  const texts = /'(?:[^']|'')*'/g;
  return [...sql.replace(texts, "''").replace(NO_CHANGE, ' ').matchAll(CHANGE)].map(([, table]) =>
    table!.replace(/[`"{}]/g, ''),
  );
}
