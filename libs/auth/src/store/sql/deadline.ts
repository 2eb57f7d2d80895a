/** The end of the time for an answer: aborted then. */
export interface Deadline extends AbortSignal {
  /** By `performance.now()`. */
  readonly at: number;
}

function deadlineOf(controller: AbortController, milliseconds: number): Deadline {
  return Object.assign(controller.signal, { at: performance.now() + milliseconds });
}

/** Ends the wait, not the work: that one sees its deadline over and rolls back. */
export async function within<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort();
      reject(Object.assign(new Error('no answer in time'), { code: 'TIMEOUT' }));
    }, milliseconds);
  });
  try {
    return await Promise.race([work(deadlineOf(controller, milliseconds)), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Stops work whose caller is gone, before it changes anything more. */
export function assertInTime(deadline: AbortSignal): void {
  if (deadline.aborted) throw Object.assign(new Error('too late'), { code: 'TIMEOUT' });
}

/** The same, but the work is waited for to its end: whatever is under way then is the last of it. */
export async function withinOrLater<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), milliseconds);
  try {
    return await work(deadlineOf(controller, milliseconds));
  } finally {
    clearTimeout(timer);
  }
}
