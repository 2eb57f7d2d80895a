// One class each, however it is come by: the names that `import` finds are those that `require()` gives, and the same things.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as nodeSqlite from 'nestjs-session-auth/node-sqlite';
import * as testing from 'nestjs-session-auth/testing';
import * as library from 'nestjs-session-auth';

const require = createRequire(import.meta.url);
for (const [name, imported] of Object.entries({
  'nestjs-session-auth': library,
  'nestjs-session-auth/testing': testing,
})) {
  const required = require(name);
  assert.ok(Object.keys(required).length > 4);
  // The first patches of Node 20.19 and 22.12 need Nest 12 to be there before it is required.
  assert.match(import.meta.resolve(name), /\/index\.mjs$/);
  for (const key of Object.keys(required)) assert.equal(imported[key], required[key], `${key} of ${name}`);
}
// It needs no Nest, and loads nothing before it is used.
for (const name of ['NodeSqlite', 'SqliteError', 'hasNodeSqlite']) {
  assert.equal(typeof nodeSqlite[name], 'function');
  assert.equal(nodeSqlite[name], require('nestjs-session-auth/node-sqlite')[name]);
}
assert.ok(!process.moduleLoadList.includes('NativeModule sqlite'));
assert.ok(require('nestjs-session-auth/package.json').version);
