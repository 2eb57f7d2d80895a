import { registerDecorator, type ValidationArguments } from 'class-validator';
import { FIELD_MESSAGES, passwordProblem, textProblem, usernameProblem } from '../../domain/fields';
import { USERNAME_LENGTH } from '../../domain/username';

/** What is wrong with a value, or null. */
type Problem = (value: unknown) => string | null;

/** One rule with one message for each field, so that a client is told one thing at a time. */
function field(name: string, problem: Problem): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) => problem(value) === null,
        defaultMessage: (args?: ValidationArguments) => problem(args?.value) ?? '',
      },
    });
}

/** A string with anything in it. */
export const TextField = (): PropertyDecorator => field('text', textProblem);

export const UsernameField = (): PropertyDecorator =>
  field('username', (value) => usernameProblem(value, USERNAME_LENGTH));

export const PasswordField = (): PropertyDecorator => field('password', passwordProblem);

/** JSON `true` and `false`, or nothing at all. */
export const OptionalBooleanField = (): PropertyDecorator =>
  field('boolean', (value) => {
    if (value === null) return FIELD_MESSAGES.null;
    return value === undefined || typeof value === 'boolean' ? null : FIELD_MESSAGES.boolean;
  });
