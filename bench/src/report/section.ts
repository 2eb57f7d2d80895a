/** What the report says of one part. */
export interface Section {
  readonly text: string;
  /** SVG by the name of its file, without the ending. */
  readonly plots?: ReadonlyMap<string, string>;
}
