const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * Runs the tests of each file in the worker's own context, in which `shared-packages.cjs` loads each package once. After a
 * file, the global objects and the environment variables are as before.
 */
module.exports = class SharedEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.before = globals();
    this.variables = { ...process.env };
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const [name, { value, get }] of globals()) {
      const before = this.before.get(name);
      if (!before) delete globalThis[name];
      else if (value !== before.value || get !== before.get) Object.defineProperty(globalThis, name, before);
    }
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return this.global;
  }
};

/** The global objects by name. Those whose names are symbols belong to Jest and to Node. */
function globals() {
  return new Map(
    Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(([, { configurable }]) => configurable),
  );
}
