/** What the clients of a group observed. Times are values of `performance.now()`. */
export class Journal {
  /** Set to true to make the clients stop. */
  isOver = false;
  refreshes = 0;
  /** The times at which responses with status 503 arrived. */
  readonly unavailable: number[] = [];
  /** Sessions that were refused although their client behaved correctly. */
  readonly lost: string[] = [];
  /** Responses that contradict the contract. */
  readonly wrong: string[] = [];
}
