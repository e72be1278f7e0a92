import {
  Converter,
  type Application,
  type Context,
  DeclarationReflection,
  ReferenceType,
  ReflectionType,
} from 'typedoc';
import ts from 'typescript';

/**
 * A TypeDoc plugin: a property whose type the source gives by name keeps that name. TypeScript forgets names such as
 * `RunConfig` for types that zod infers, and TypeDoc would list all options of a run at each such property.
 */
export function load(app: Application): void {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context: Context) => {
    for (const reflection of Object.values(context.project.reflections)) {
      if (!(reflection instanceof DeclarationReflection) || !(reflection.type instanceof ReflectionType)) continue;
      const name = writtenName(context, reflection);
      if (name === null) continue;
      context.project.removeReflection(reflection.type.declaration);
      reflection.type = ReferenceType.createBrokenReference(name, context.project, undefined);
    }
  });
}

/** The name that the source gives as the type of a property; null for any other type. */
function writtenName(context: Context, property: DeclarationReflection): string | null {
  const declaration = context.getSymbolFromReflection(property)?.valueDeclaration;
  if (declaration === undefined || !ts.isPropertySignature(declaration) || declaration.type === undefined) return null;
  return ts.isTypeReferenceNode(declaration.type) ? declaration.type.getText() : null;
}
