import { AuthError } from 'nestjs-session-auth';

/** Returns the result of a call, or the code of its refusal. */
export async function outcome<T>(call: Promise<T>): Promise<T | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AuthError) return error.code;
    throw error;
  }
}
