export interface User {
  readonly username: string;
}

/** The part of `document` that reports whether the page is visible. */
export class FakePage extends EventTarget {
  visibilityState = 'visible';

  /** Opens a page: from now on, it is the global `document`. */
  static open(): FakePage {
    const page = new FakePage();
    Object.defineProperty(globalThis, 'document', { value: page, configurable: true });
    return page;
  }

  async become(visibility: 'visible' | 'hidden'): Promise<void> {
    this.visibilityState = visibility;
    this.dispatchEvent(new Event('visibilitychange'));
    await settle();
  }

  /** Removes the global `document`. A server has none. */
  close(): void {
    Reflect.deleteProperty(globalThis, 'document');
  }
}

export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
