import { clean } from './cleaning';
import type { Deed } from './step';

export const wait: Deed<{ ms: number }> = async ({ model, real }, { ms }) => {
  real.clock.advance(ms);
  model.now = real.clock.now();
};

export const restart: Deed<object> = ({ instance }) => instance.restart();

/** In the host's own table, of which the library is told nothing. */
export const setActive: Deed<{ active: boolean }> = async ({ real, user }, { active }) => {
  await real.setActive(user, active);
  user.active = active;
};

export const disableUser: Deed<object> = async ({ auth, model, user }) => {
  await auth.disableUser(user.id);
  user.active = false;
  model.isGone(user);
};

export const enableUser: Deed<object> = async ({ auth, user }) => {
  await auth.enableUser(user.id);
  user.active = true;
};

/** A dry run tells what a clean-up would do, which is done after it. */
export const prune: Deed<{ isDry: boolean }> = async ({ instance, model, real }, { isDry }) => {
  const report = await instance.pruning.prune({ dryRun: isDry });
  expect(report).toMatchObject({ dryRun: isDry, ...clean(model, await real.stored(), isDry) });
};
