/** What to undo when a part ends, also when it is interrupted. */
export class Teardown {
  private readonly tasks: (() => Promise<unknown>)[] = [];

  add(task: () => Promise<unknown>): void {
    this.tasks.push(task);
  }

  /** Runs the tasks in reverse order; a task that fails does not stop the others. */
  async run(): Promise<void> {
    for (let task = this.tasks.pop(); task; task = this.tasks.pop()) {
      await task().catch((error: unknown) => console.error('Teardown failed:', error));
    }
  }
}
