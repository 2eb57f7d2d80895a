// The entry point for `import`, with the same classes as `require()`. The library's own entry point
// comes first.
import '../index.mjs';
export * from './index.js';
