export const JWT_SECRET = process.env['JWT_SECRET'] ?? 'a secret of the tests, with more than 32 bytes';
export const BCRYPT_COST = process.env['NODE_ENV'] === 'test' ? 4 : 12;
