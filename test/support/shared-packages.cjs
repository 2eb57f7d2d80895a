const { createRequire } = require('node:module');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/** Packages that store what an application declares, or that tests replace. */
const LOADED_FOR_EACH_FILE = /^(@nestjs\/(apollo|graphql|mercurius|swagger)|bcrypt)(\/|$)/;

/**
 * Loads the packages of `node_modules` with Node, and so once for all files of a worker. Jest would load and compile them
 * again for each file, which takes most of the time that a file needs to start.
 */
module.exports = class SharedPackages extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    if (!this.isShared) return;
    executor.compile = (source, filename) => compileFunction(source, executor.injectedModuleParameters, { filename });
  }

  /** Whether the file runs in the context of the worker (`shared-environment.cjs`). */
  get isShared() {
    return this._environment.global === globalThis;
  }

  requireModule(from, name, options, isRequireActual) {
    if (this.isShared && !options?.isInternalModule && this.isPackage(from, name)) return createRequire(from)(name);
    return super.requireModule(from, name, options, isRequireActual);
  }

  isPackage(from, name) {
    if (!/^[@a-z]/.test(name ?? '') || LOADED_FOR_EACH_FILE.test(name) || this._resolution.isCoreModule(name))
      return false;
    try {
      return this._resolution.resolveCjs(from, name).includes('/node_modules/');
    } catch {
      return false;
    }
  }
};
