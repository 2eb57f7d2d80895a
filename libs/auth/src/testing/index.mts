// The entry point for `import`, with the same classes as `require()`. The library's own entry point is imported
// first, because it imports Nest before other modules.
import '../index.mjs';
export * from './index.js';
