import { times, type MakeContender } from './contender';
import { routeBehind } from './route';

/** The route without a guard: the most that Nest and Express can do. */
export const make: MakeContender = (given) =>
  Promise.resolve({
    module: { controllers: [routeBehind()] },
    credentials: () => Promise.resolve(times(Math.max(1, given.sessions), () => ({}))),
  });
