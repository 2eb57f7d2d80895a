/** Tasks that run when a part ends or is interrupted. */
export class Teardown {
  private readonly tasks: (() => Promise<unknown>)[] = [];

  add(task: () => Promise<unknown>): void {
    this.tasks.push(task);
  }

  /** Runs the tasks in reverse order. If a task fails, the others still run. */
  async run(): Promise<void> {
    for (let task = this.tasks.pop(); task; task = this.tasks.pop()) {
      await task().catch((error: unknown) => console.error('Teardown failed:', error));
    }
  }
}
