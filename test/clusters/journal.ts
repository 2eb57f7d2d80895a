/** What the clients of a group have seen. Times are those of `performance.now()`. */
export class Journal {
  /** Set where the clients should come to an end. */
  isOver = false;
  refreshes = 0;
  /** When each 503 arrived. */
  readonly unavailable: number[] = [];
  /** Sessions that were refused although their client made no mistake. */
  readonly lost: string[] = [];
  /** Responses that contradict the contract. */
  readonly wrong: string[] = [];
}
