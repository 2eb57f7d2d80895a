import { registerDecorator, type ValidationArguments } from 'class-validator';
import {
  FIELD_MESSAGES,
  PASSWORD_INPUT_BYTES,
  passwordProblem,
  textProblem,
  usernameProblem,
} from '../../../domain/fields';
import { USERNAME_LENGTH } from '../../../domain/username';
import { Property, text, type Schema } from './property';

/** Returns the message for an invalid value, or null for a valid value. */
type Problem = (value: unknown) => string | null;

/** Declares a field with a single validation rule, so that a client receives one message per field. */
function field(name: string, problem: Problem, schema: Schema): PropertyDecorator {
  return (target, property) => {
    Property(schema)(target, property);
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) => problem(value) === null,
        defaultMessage: (args?: ValidationArguments) => problem(args?.value) ?? '',
      },
    });
  };
}

/** Declares a non-empty string. */
export const TextField = (description: string, example: string): PropertyDecorator =>
  field('text', textProblem, { ...text(description, example), minLength: 1 });

export const UsernameField = (description: string): PropertyDecorator =>
  field('username', (value) => usernameProblem(value, USERNAME_LENGTH), {
    ...text(description, 'alice'),
    minLength: 1,
    maxLength: USERNAME_LENGTH,
  });

// `maxLength` counts characters. The limit in bytes is also an upper bound for the number of characters,
// because a character has at least one byte.
export const PasswordField = (description: string, minLength: number = 1): PropertyDecorator =>
  field('password', passwordProblem, {
    ...text(description, 'correct horse battery staple'),
    format: 'password',
    minLength,
    maxLength: PASSWORD_INPUT_BYTES,
  });

/** Declares an optional boolean. Default: false. */
export const OptionalBooleanField = (description: string): PropertyDecorator =>
  field(
    'boolean',
    (value) => {
      if (value === null) return FIELD_MESSAGES.null;
      return value === undefined || typeof value === 'boolean' ? null : FIELD_MESSAGES.boolean;
    },
    { type: 'boolean', description, default: false, required: false },
  );
