import type { ApplicationTransactions, TransactionManager } from '../domain/ports/platform';

/**
 * These calls of a service, as a part of the application's transaction.
 * @throws Error for a manager that is in no transaction, or of another DataSource
 */
export function joining<Service extends object, Name extends keyof Service>(
  transactions: ApplicationTransactions,
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
