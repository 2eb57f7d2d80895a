// The door for `import`: the same classes as `require()` gives. Nest 12 comes first, because the first patches of Node 20.19 and
// 22.12 cannot `require()` an ES module that an `import` has linked and not yet evaluated (ERR_REQUIRE_CYCLE_MODULE).
import '@nestjs/common';
import '@nestjs/core';
import '@nestjs/event-emitter';
export * from './index.js';
