/**
 * The result of the work, or that of `onTimeout` where it takes longer. The work itself continues.
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
