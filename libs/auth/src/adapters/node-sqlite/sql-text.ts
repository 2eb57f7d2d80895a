/** Literals, quoted names and comments. A doubled quote ends one literal and begins the next, which is the same here. */
const OPAQUE = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[^]*?(?:\*\/|$)/g;

const WRITES = /^(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i;
const READS = /^(?:SELECT|VALUES|PRAGMA|EXPLAIN)\b/i;
/** None of these words can be an unquoted name. `REPLACE` can be, and is a function. */
const WRITES_WITH = /\b(?:INSERT|UPDATE|DELETE|REPLACE\s+INTO)\b/i;

/** What node:sqlite does not report of a statement, or only on newer Nodes, from its text. */
export class SqlText {
  /** The statement without literals, quoted names and comments. */
  private readonly outline: string;

  constructor(sql: string) {
    this.outline = sql.replace(OPAQUE, ' ').trim();
  }

  /** Whether there is no statement. */
  get isEmpty(): boolean {
    return /^[\s;]*$/.test(this.outline);
  }

  /** Whether it changes rows. SQLite reports for every other statement how many the last one of these changed. */
  get changesRows(): boolean {
    return WRITES.test(this.outline);
  }

  /** Whether it returns rows. */
  get returnsRows(): boolean {
    if (READS.test(this.outline) || /\bRETURNING\b/i.test(this.outline)) return true;
    return /^WITH\b/i.test(this.outline) && !WRITES_WITH.test(this.outline);
  }

  /** How many values are bound, or null where parameters have numbers or names, so that the text does not say. */
  get parameterCount(): number | null {
    if (/\?\d|[:@$]\w/.test(this.outline)) return null;
    return this.outline.split('?').length - 1;
  }
}
