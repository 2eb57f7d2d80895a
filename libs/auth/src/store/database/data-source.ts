/** Injects the DataSource that the library works on; undefined where the application has none of that name. */
export const AUTH_DATA_SOURCE = 'NESTJS_SESSION_AUTH_DATA_SOURCE';
