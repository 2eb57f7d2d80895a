import { Session, type Profiler } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/** Finds the executed functions with V8's precise coverage. */
export class Coverage {
  private readonly session = new Session();

  async start(): Promise<void> {
    this.session.connect();
    await this.session.post('Debugger.enable');
    await this.session.post('Profiler.enable');
    await this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  stop(): void {
    this.session.disconnect();
  }

  /** Runs an operation and returns the files in a folder of which it executed at least one function. */
  async executedFiles(folder: string, operation: () => Promise<unknown>): Promise<string[]> {
    // Taking the coverage resets the counters.
    await this.session.post('Profiler.takePreciseCoverage');
    await operation();
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    const files: string[] = [];
    for (const script of result) {
      const file = script.url.startsWith('file:') ? fileURLToPath(script.url) : script.url;
      if (file.startsWith(folder) && (await this.hasExecuted(script))) files.push(file.slice(folder.length));
    }
    return files.sort();
  }

  private async hasExecuted({ scriptId, functions }: Profiler.ScriptCoverage): Promise<boolean> {
    const executed = functions.filter(({ ranges }) => ranges[0]!.count > 0);
    if (executed.length === 0) return false;
    const { scriptSource } = await this.session.post('Debugger.getScriptSource', { scriptId });
    return executed.some(({ ranges }) => {
      const { startOffset, endOffset } = ranges[0]!;
      return !isExport(scriptSource.slice(startOffset, endOffset));
    });
  }
}

/** Returns whether a function is the getter that the compiler writes for an export. */
function isExport(source: string): boolean {
  return /^(get \w+|function)\s*\(\)\s*\{\s*return [\w.]+;\s*\}$/.test(source);
}
