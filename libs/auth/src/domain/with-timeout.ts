/**
 * Returns the result of the work. If the work takes longer than `milliseconds`, returns the result of `onTimeout`. The
 * work is not canceled.
 */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(onTimeout);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
