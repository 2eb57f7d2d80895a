/** Matches string literals, quoted names and comments. A literal with a doubled quote matches as two literals. */
const OPAQUE = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[^]*?(?:\*\/|$)/g;

const WRITES = /^(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i;
const READS = /^(?:SELECT|VALUES|PRAGMA|EXPLAIN)\b/i;
/** The keywords of a write in a `WITH` statement. `REPLACE` alone can also be a name or a function. */
const WRITES_WITH = /\b(?:INSERT|UPDATE|DELETE|REPLACE\s+INTO)\b/i;

/**
 * Derives from the text of a statement the properties that node:sqlite does not report, or reports only in newer
 * versions of Node.js.
 */
export class SqlText {
  /** The statement without string literals, quoted names and comments. */
  private readonly outline: string;

  constructor(sql: string) {
    this.outline = sql.replace(OPAQUE, ' ').trim();
  }

  /** Whether the text contains no statement. */
  get isEmpty(): boolean {
    return /^[\s;]*$/.test(this.outline);
  }

  /**
   * Whether the statement can change rows, which is assumed of every `WITH` statement. For other statements, SQLite
   * reports the number of rows of the last change.
   */
  get changesRows(): boolean {
    return WRITES.test(this.outline);
  }

  /** Whether the statement returns rows. */
  get returnsRows(): boolean {
    if (READS.test(this.outline) || /\bRETURNING\b/i.test(this.outline)) return true;
    return /^WITH\b/i.test(this.outline) && !WRITES_WITH.test(this.outline);
  }

  /**
   * The number of parameters, or null if the parameters have numbers or names, because one parameter can then
   * occur several times.
   */
  get parameterCount(): number | null {
    if (/\?\d|[:@$]\w/.test(this.outline)) return null;
    return this.outline.split('?').length - 1;
  }
}
