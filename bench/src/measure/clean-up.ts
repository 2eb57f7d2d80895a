/** What is to be undone when a part ends, also when it is interrupted. */
export class CleanUp {
  private readonly tasks: (() => Promise<unknown>)[] = [];

  add(task: () => Promise<unknown>): void {
    this.tasks.push(task);
  }

  /** The last first; what fails keeps nothing else from being undone. */
  async run(): Promise<void> {
    for (let task = this.tasks.pop(); task; task = this.tasks.pop()) {
      await task().catch((error: unknown) => console.error('Left behind:', error));
    }
  }
}
