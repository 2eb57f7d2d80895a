/** Ends the wait, not the work: that one sees its deadline over and rolls back. */
export async function within<T>(milliseconds: number, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      deadline.abort();
      reject(Object.assign(new Error('no answer in time'), { code: 'TIMEOUT' }));
    }, milliseconds);
  });
  try {
    return await Promise.race([work(deadline.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Stops work whose caller is gone, before it changes anything more. */
export function assertInTime(deadline: AbortSignal): void {
  if (deadline.aborted) throw Object.assign(new Error('too late'), { code: 'TIMEOUT' });
}

/** The same, but the work is waited for to its end: whatever is under way then is the last of it. */
export async function withinOrLater<T>(milliseconds: number, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), milliseconds);
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}
