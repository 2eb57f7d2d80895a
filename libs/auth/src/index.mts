// The entry point for `import`, with the same classes as `require()`. Nest is imported first: the library loads Nest with
// `require()`, Nest 12 consists of ES modules, and the first patches of Node.js 20.19 and 22.12 cannot `require()` an ES
// module that an `import` has linked but not yet evaluated (ERR_REQUIRE_CYCLE_MODULE).
import '@nestjs/common';
import '@nestjs/core';
import '@nestjs/event-emitter';
export * from './index.js';
