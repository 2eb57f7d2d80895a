// Checks that `import` and `require()` load the same names and the same classes.
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
  // The first patches of Node 20.19 and 22.12 can require Nest 12 only after index.mjs has imported it.
  assert.match(import.meta.resolve(name), /\/index\.mjs$/);
  for (const key of Object.keys(required)) assert.equal(imported[key], required[key], `${key} of ${name}`);
}
// `nestjs-session-auth/node-sqlite` works without Nest, and loads `node:sqlite` only when a database is opened.
for (const name of ['NodeSqlite', 'SqliteError', 'hasNodeSqlite']) {
  assert.equal(typeof nodeSqlite[name], 'function');
  assert.equal(nodeSqlite[name], require('nestjs-session-auth/node-sqlite')[name]);
}
assert.ok(!process.moduleLoadList.includes('NativeModule sqlite'));
assert.ok(require('nestjs-session-auth/package.json').version);
