/**
 * Options that Nest needs before it calls the factory of `forRootAsync()`. Pass them next to `useFactory`, not in the
 * result of the factory. With `forRoot()`, pass them together with the other options.
 */
export interface AuthModuleExtras {
  /** The path of the controllers, after the global prefix of the application. Default: 'auth'. */
  path?: string;
  /** Whether the library mounts its controllers. Without them, use `AuthService`. Default: true. */
  controllers?: boolean;
  /** Whether `BearerAuthGuard` is a global guard. Default: false. */
  globalGuard?: boolean;
  /** The name of the DataSource that the library uses. Default: 'default'. */
  dataSource?: string;
  /**
   * Whether other modules can inject the exported providers without importing `AuthModule`. With `false`, export
   * `AuthModule` from the module that calls `forRoot()`, and import that module where you need it. Default: true.
   */
  isGlobal?: boolean;
}
