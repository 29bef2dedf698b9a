export const presetNames = ['server-memory'] as const;
export type PresetName = (typeof presetNames)[number];

interface Preset {
  /** The npm package with the program, and its file in it; started with this Node. */
  program: { name: string; install: string; file: string };
  env: Readonly<Record<string, string>>;
  /** `write`, `search`, `list` and `clear` as a memory file has them. */
  mapping: object;
}

/** Mappings for servers that many use, each as a user could write it. docs/memory-systems.md shows them in YAML. */
export const presets: Readonly<Record<PresetName, Preset>> = {
  /**
   * The knowledge graph of the MCP project: an entity for each fact, named after the fact's key, with the fact as its one
   * observation. It looks for the whole query as one piece of text, so that it is asked word by word. It looks into names
   * and types too, so that the type is none that a query could hold.
   */
  'server-memory': {
    program: {
      name: '@modelcontextprotocol/server-memory',
      install: '@modelcontextprotocol/server-memory',
      file: 'dist/index.js',
    },
    env: { MEMORY_FILE_PATH: '{{ folder }}/memory.jsonl' },
    mapping: {
      write: {
        tool: 'create_entities',
        arguments: {
          entities: { $each_fact: { name: '{{ fact.name }}', entityType: '-', observations: ['{{ fact.text }}'] } },
        },
        batch: 'all',
      },
      search: {
        tool: 'search_nodes',
        arguments: { query: '{{ query }}' },
        items: 'entities',
        text: 'observations[]',
        per: 'word',
      },
      list: { tool: 'read_graph', items: 'entities', text: 'observations[]' },
      clear: { tool: 'delete_entities', arguments: { entityNames: { $each_item: '{{ item.name }}' } } },
    },
  },
};
