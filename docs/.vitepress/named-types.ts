import {
  Converter,
  DeclarationReflection,
  ParameterReflection,
  ReferenceType,
  ReflectionType,
  type Application,
  type Context,
  type Reflection,
} from 'typedoc';
import ts from 'typescript';

/** Types that zod infers. */
const inferred = /\b(?:RunConfig|RunSettings|Blas)\b/;

/**
 * A TypeDoc plugin: properties and parameters keep the type that the source names. TypeScript forgets names such as `RunConfig` for
 * types that zod infers, and TypeDoc would list all options of a run at each of them. Destructured parameters are named after
 * their type.
 */
export function load(app: Application): void {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context: Context) => {
    for (const reflection of Object.values(context.project.reflections)) {
      if (reflection instanceof ParameterReflection) {
        const written = writtenType(context, reflection);
        if (written !== null && inferred.test(written.getText())) rename(context, reflection, written);
      } else if (reflection instanceof DeclarationReflection && reflection.type instanceof ReflectionType) {
        const written = writtenType(context, reflection);
        if (written !== null && ts.isTypeReferenceNode(written)) rename(context, reflection, written);
      }
    }
  });
  // TypeDoc has matched `@param` tags with its own name for destructured parameters by then.
  app.converter.on(Converter.EVENT_RESOLVE_END, (context: Context) => {
    for (const reflection of Object.values(context.project.reflections)) {
      if (!(reflection instanceof ParameterReflection) || reflection.name !== '__namedParameters') continue;
      reflection.name = parameterName(writtenType(context, reflection));
    }
  });
}

/** The type that the source gives a property or a parameter; null if it gives none. */
function writtenType(context: Context, reflection: Reflection): ts.TypeNode | null {
  const declaration = context.getSymbolFromReflection(reflection)?.valueDeclaration;
  if (declaration === undefined || !(ts.isPropertySignature(declaration) || ts.isParameter(declaration))) return null;
  return declaration.type ?? null;
}

/** `evaluation` of the type `Evaluation`; `options` where the type's name says so, or where it has none. */
function parameterName(written: ts.TypeNode | null): string {
  const name = written !== null && ts.isTypeReferenceNode(written) ? written.typeName.getText() : 'Options';
  return name.endsWith('Options') ? 'options' : name.charAt(0).toLowerCase() + name.slice(1);
}

function rename(context: Context, reflection: DeclarationReflection | ParameterReflection, written: ts.TypeNode): void {
  if (reflection.type instanceof ReflectionType) context.project.removeReflection(reflection.type.declaration);
  const name = written.getText().replaceAll(/\s+/g, ' ');
  reflection.type = ReferenceType.createBrokenReference(name, context.project, undefined);
}
