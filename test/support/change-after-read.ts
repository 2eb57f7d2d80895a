import { Users } from '../../libs/auth/src/users/users';
import type { TestApplication } from './test-application';

/** Runs the change after the next read of a user by the id. */
export function changeAfterRead(app: TestApplication, change: () => Promise<unknown>): void {
  const users = app.nest.get(Users);
  const findById = users.findById.bind(users);
  const reading = jest.spyOn(users, 'findById').mockImplementationOnce(async (...args) => {
    const user = await findById(...args);
    await change();
    reading.mockRestore();
    return user;
  });
}
