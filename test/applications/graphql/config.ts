export { BCRYPT_COST, JWT_SECRET } from '../rest/config';
export const databaseUrl = () => process.env['DATABASE_URL'] ?? 'postgres://localhost/blog';
