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

/** What is wrong with a value, or null. */
type Problem = (value: unknown) => string | null;

/** One rule per field, so that a client gets one message per field. */
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

/** A string that is not empty. */
export const TextField = (description: string, example: string): PropertyDecorator =>
  field('text', textProblem, { ...text(description, example), minLength: 1 });

export const UsernameField = (description: string): PropertyDecorator =>
  field('username', (value) => usernameProblem(value, USERNAME_LENGTH), {
    ...text(description, 'alice'),
    minLength: 1,
    maxLength: USERNAME_LENGTH,
  });

// A character has at least one byte in UTF-8.
export const PasswordField = (description: string, minLength: number = 1): PropertyDecorator =>
  field('password', passwordProblem, {
    ...text(description, 'correct horse battery staple'),
    format: 'password',
    minLength,
    maxLength: PASSWORD_INPUT_BYTES,
  });

/** `true`, `false` or absent, which means `false`. */
export const OptionalBooleanField = (description: string): PropertyDecorator =>
  field(
    'boolean',
    (value) => {
      if (value === null) return FIELD_MESSAGES.null;
      return value === undefined || typeof value === 'boolean' ? null : FIELD_MESSAGES.boolean;
    },
    { type: 'boolean', description, default: false, required: false },
  );
