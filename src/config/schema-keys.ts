import { z } from 'zod';

type Raw = Record<string, unknown>;

export const isMapping = (value: unknown): value is Raw =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

export const valueAt = (data: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | null | undefined)?.[step], data);

const propertiesOf = (node: Raw): Record<string, Raw> => (node.properties as Record<string, Raw> | undefined) ?? {};

/** How badly a mapping fits one branch of a union: a wrong tag is worse than any number of unknown keys. */
function misfit(node: Raw, value: Raw): number {
  const properties = propertiesOf(node);
  return Object.entries(value).reduce((sum, [key, inner]) => {
    const property = properties[key];
    if (property === undefined) return sum + 1;
    return sum + ('const' in property && property.const !== inner ? 1000 : 0);
  }, 0);
}

/** The node itself, or of a union's branches those that a value fits best. */
function fittingNodes(node: Raw, value: unknown): Raw[] {
  const branches = (node.anyOf ?? node.oneOf) as Raw[] | undefined;
  if (!branches) return [node];
  const all = branches.flatMap((branch) => fittingNodes(branch, value));
  if (!isMapping(value)) return all;
  const least = Math.min(...all.map((branch) => misfit(branch, value)));
  return all.filter((branch) => misfit(branch, value) === least);
}

/** Names of the keys that a schema takes at a path, by way of its JSON schema. */
export function keysAt(schema: z.ZodType, data: unknown, path: readonly PropertyKey[]): string[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Raw;
  let nodes = fittingNodes(root, data);
  for (const [i, step] of path.entries()) {
    nodes = nodes.flatMap((node) => {
      const child =
        typeof step === 'number' ? node.items : (propertiesOf(node)[String(step)] ?? node.additionalProperties);
      return isMapping(child) ? fittingNodes(child, valueAt(data, path.slice(0, i + 1))) : [];
    });
  }
  return [...new Set(nodes.flatMap((node) => Object.keys(propertiesOf(node))))];
}
