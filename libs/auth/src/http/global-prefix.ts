import type { ModuleRef } from '@nestjs/core';

/** What is used of Nest's container. */
interface Container {
  readonly applicationConfig?: { getGlobalPrefix(): string };
}

/**
 * The host's global prefix. Nest gives it to no provider; its container has it, and without it the only loss is Nest's
 * own body, instead of the library's, for JSON that cannot be read.
 */
export function globalPrefixOf(moduleRef: ModuleRef): string {
  const { container } = moduleRef as unknown as { container?: Container };
  return container?.applicationConfig?.getGlobalPrefix() ?? '';
}
