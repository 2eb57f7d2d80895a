/** Prints the ten slowest files of a run with several files, and the time of the run. */
module.exports = class SlowestFiles {
  onRunComplete(_contexts, { testResults, startTime }) {
    if (testResults.length < 2) return;
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({ name: testFilePath.slice(process.cwd().length + 1), ...perfStats }))
      .sort((one, other) => other.runtime - one.runtime);
    const lines = files.slice(0, 10).map(({ name, runtime }) => `${seconds(runtime).padStart(7)}  ${name}`);
    const workers = files.reduce((sum, { runtime }) => sum + runtime, 0);
    const total = `The run took ${seconds(Date.now() - startTime)}, and the files together ${seconds(workers)}.`;
    console.log(['\nThe slowest files:', ...lines, total].join('\n'));
  }
};

function seconds(milliseconds) {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
