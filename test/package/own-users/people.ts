/** The application's own operations on its users table, without the library. */
export abstract class People {
  abstract idOf(email: string): Promise<number | null>;
  abstract insert(id: number, email: string, passwordHash: string): Promise<void>;
  abstract remove(id: number): Promise<void>;
  abstract setBlocked(id: number, isBlocked: boolean): Promise<void>;
  abstract setDeleted(id: number, isDeleted: boolean): Promise<void>;
}
