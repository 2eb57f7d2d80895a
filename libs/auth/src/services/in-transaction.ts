import type { HostTransactions, TransactionManager } from '../domain/ports/host-transactions';

/**
 * These calls of a service, as a part of the host's transaction.
 * @throws Error for a manager that is in no transaction, or of another DataSource
 */
export function joining<Service extends object, Name extends keyof Service>(
  transactions: HostTransactions,
  manager: TransactionManager,
  service: Service,
  names: readonly Name[],
): Pick<Service, Name> {
  transactions.assertOpen(manager);
  const methods = names.map((name) => {
    const method = (service[name] as (...args: unknown[]) => Promise<unknown>).bind(service);
    return [name, (...args: unknown[]) => transactions.join(manager, () => method(...args))];
  });
  return Object.fromEntries(methods) as Pick<Service, Name>;
}
