import {
  type LoopbackService,
  ranked,
  type ServiceAnswer,
  type ServiceFaults,
  type ServiceRequest,
  startService,
} from './loopback-service.ts';

interface Episode {
  uuid: string;
  content: string;
  created_at: string;
  metadata: unknown;
  source: string;
  looks: number;
  dropped: boolean;
  failed: boolean;
}

const NOT_FOUND: ServiceAnswer = { status: 404, body: { message: 'not found' } };

/**
 * A double of Zep's API v2: users, episodes that are processed some looks later, one edge an episode with its text as
 * the fact, pages of edges by cursor, and search over edges or episodes.
 */
export async function startLoopbackZep(options: { apiKey: string; faults?: ServiceFaults }): Promise<LoopbackService> {
  const faults = options.faults ?? {};
  const users = new Map<string, Episode[]>();
  let count = 0;
  const uuid = () => `00000000-0000-4000-8000-${String(count++).padStart(12, '0')}`;

  const processed = ({ looks, failed }: Episode) => !failed && looks > (faults.looksUntilDone ?? 0);
  const wire = (episode: Episode) => ({
    uuid: episode.uuid,
    content: episode.content,
    created_at: episode.created_at,
    metadata: episode.metadata,
    source: episode.source,
    processed: processed(episode),
  });
  const edgesOf = (user: string) =>
    (users.get(user) ?? [])
      .filter((episode) => !episode.dropped && processed(episode))
      .map((episode) => ({
        uuid: `edge-${episode.uuid}`,
        name: 'SAID',
        fact: episode.content,
        created_at: episode.created_at,
        episodes: [episode.uuid],
        source_node_uuid: 'a',
        target_node_uuid: 'b',
      }));

  function addUser({ body }: ServiceRequest): ServiceAnswer {
    if (users.has(body.user_id)) return { status: 400, body: { message: 'user already exists' } };
    users.set(body.user_id, []);
    return { status: 201, body: { user_id: body.user_id, uuid: uuid() } };
  }

  function addData({ body }: ServiceRequest): ServiceAnswer {
    const episodes = users.get(body.user_id);
    if (!episodes) return NOT_FOUND;
    const episode: Episode = {
      uuid: uuid(),
      content: body.data,
      created_at: body.created_at ?? '2025-01-01T00:00:00Z',
      metadata: body.metadata ?? null,
      source: body.type,
      looks: 0,
      dropped: body.data === faults.drops,
      failed: body.data === faults.fails,
    };
    episodes.push(episode);
    return { status: 202, body: wire(episode) };
  }

  function listEpisodes(user: string, lastn: number): ServiceAnswer {
    const episodes = users.get(user);
    if (!episodes) return NOT_FOUND;
    for (const episode of episodes) episode.looks++;
    const kept = episodes.filter(({ dropped }) => !dropped);
    return { body: { episodes: kept.slice(-lastn).reverse().map(wire) } };
  }

  function listEdges(user: string, { limit = 100, uuid_cursor: cursor }: { limit?: number; uuid_cursor?: string }) {
    if (!users.has(user)) return NOT_FOUND;
    const edges = edgesOf(user);
    const from = cursor === undefined ? 0 : edges.findIndex((edge) => edge.uuid === cursor) + 1;
    return { body: edges.slice(from, from + limit) };
  }

  function search({ body }: ServiceRequest): ServiceAnswer {
    if (!users.has(body.user_id)) return NOT_FOUND;
    if (body.limit > 50) return { status: 400, body: { message: 'limit must be at most 50' } };
    const other = faults.leaks ? [...users.keys()].find((user) => user !== body.user_id) : undefined;
    const pick = <T>(own: T[], others: T[], textOf: (item: T) => string) => {
      const found = ranked(own, { query: body.query, k: body.limit }, textOf);
      return [...others.slice(0, 1), ...found.map(({ item, score }) => ({ ...item, score }))].slice(0, body.limit);
    };
    if (body.scope === 'episodes') {
      const of = (user: string) =>
        (users.get(user) ?? []).filter((one) => !one.dropped && processed(one)).map((one) => wire(one));
      return { body: { episodes: pick(of(body.user_id), other ? of(other) : [], ({ content }) => content) } };
    }
    return { body: { edges: pick(edgesOf(body.user_id), other ? edgesOf(other) : [], ({ fact }) => fact) } };
  }

  function user(method: string, id: string): ServiceAnswer {
    if (!users.has(id)) return NOT_FOUND;
    if (method === 'DELETE' && !faults.keepsAll) users.delete(id);
    return { body: method === 'DELETE' ? { message: 'OK' } : { user_id: id } };
  }

  const answer = (request: ServiceRequest): ServiceAnswer => {
    const { method, path, query, body } = request;
    const found = /^\/(users|graph\/episodes\/user|graph\/edge\/user)\/([^/]+)$/.exec(path);
    const id = found?.[2] ?? '';
    if (found?.[1] === 'users') return user(method, id);
    if (found?.[1] === 'graph/episodes/user') return listEpisodes(id, Number(query.get('lastn') ?? 10));
    if (found?.[1] === 'graph/edge/user') return listEdges(id, body ?? {});
    const routes: Record<string, (request: ServiceRequest) => ServiceAnswer> = {
      'POST /users': addUser,
      'POST /graph': addData,
      'POST /graph/search': search,
    };
    return routes[`${method} ${path}`]?.(request) ?? NOT_FOUND;
  };
  const keyOf = ({ authorization = '' }: ServiceRequest['headers']) => authorization.replace(/^Api-Key /, '');
  return startService({ apiKey: options.apiKey, keyOf, answer, faults });
}
