import { times, type MakeContender } from './contender';
import { routeBehind } from './route';

/** The route without a guard. It shows the limit of Nest and Express. */
export const make: MakeContender = (setup) =>
  Promise.resolve({
    module: { controllers: [routeBehind()] },
    credentials: () => Promise.resolve(times(Math.max(1, setup.sessions), () => ({}))),
  });
