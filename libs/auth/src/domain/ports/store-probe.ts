/** Whether the store can do its work. */
export abstract class StoreProbe {
  /** Reads from each of the library's tables. @throws AuthError `database_unavailable` where one does not answer */
  abstract read(): Promise<void>;
}
