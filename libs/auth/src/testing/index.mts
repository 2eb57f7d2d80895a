// The door for `import`: the same classes as `require()` gives, behind the library's own door.
import '../index.mjs';
export * from './index.js';
