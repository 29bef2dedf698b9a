import {
  type LoopbackService,
  ranked,
  type ServiceAnswer,
  type ServiceFaults,
  type ServiceRequest,
  startService,
} from './loopback-service.ts';

interface Memory {
  id: string;
  memory: string;
  user_id: string;
  metadata: unknown;
  created_at: string;
}

interface Event {
  id: string;
  looks: number;
  failed: boolean;
  memories: Memory[];
}

/**
 * A double of mem0's platform (API v3): an asynchronous add with an event to poll, a paged list with the newest first,
 * search, and deletion by user. It keeps each message as one memory, as it is.
 */
export async function startLoopbackMem0(options: { apiKey: string; faults?: ServiceFaults }): Promise<LoopbackService> {
  const faults = options.faults ?? {};
  const events = new Map<string, Event>();
  let memories: Memory[] = [];
  let count = 0;

  function add({ body }: ServiceRequest): ServiceAnswer {
    if (!body.user_id || !Array.isArray(body.messages)) return { status: 400, body: { error: 'bad request' } };
    const texts = (body.messages as { content: string }[]).map(({ content }) => content);
    const kept = texts.filter((text) => text !== faults.drops);
    const event: Event = {
      id: `event-${count++}`,
      looks: 0,
      failed: texts.some((text) => text === faults.fails),
      memories: kept.map((memory) => ({
        id: `memory-${count++}`,
        memory,
        user_id: body.user_id,
        metadata: body.metadata ?? null,
        created_at: new Date(Date.UTC(2025, 0, 1) + count).toISOString(),
      })),
    };
    events.set(event.id, event);
    return { body: { message: 'Memory processing has been queued', status: 'PENDING', event_id: event.id } };
  }

  function look(id: string): ServiceAnswer {
    const event = events.get(id);
    if (!event) return { status: 404, body: { error: 'no such event' } };
    if (event.looks++ < (faults.looksUntilDone ?? 0)) return { body: { id, event_type: 'ADD', status: 'RUNNING' } };
    if (event.failed) return { body: { id, event_type: 'ADD', status: 'FAILED' } };
    memories.push(...event.memories.splice(0));
    return { body: { id, event_type: 'ADD', status: 'SUCCEEDED', results: [] } };
  }

  function list({ body, query }: ServiceRequest): ServiceAnswer {
    const own = memories.filter(({ user_id: user }) => user === body.filters?.user_id).reverse();
    const size = Number(query.get('page_size') ?? 100);
    const page = Number(query.get('page') ?? 1);
    const results = own.slice((page - 1) * size, page * size);
    const next = page * size < own.length ? `?page=${page + 1}&page_size=${size}` : null;
    return { body: { count: own.length, next, previous: null, results } };
  }

  function search({ body }: ServiceRequest): ServiceAnswer {
    const user = body.filters?.user_id;
    if (!user) return { status: 400, body: { error: 'filters must name a user' } };
    const own = memories.filter((memory) => memory.user_id === user);
    const found = ranked(own, { query: body.query, k: body.top_k ?? 10 }, ({ memory }) => memory)
      .filter(({ score }) => score >= (body.threshold ?? 0.1))
      .map(({ item, score }) => ({ ...item, score }));
    const others = faults.leaks ? memories.filter((memory) => memory.user_id !== user) : [];
    return { body: { results: [...others.slice(0, 1), ...found].slice(0, body.top_k ?? 10) } };
  }

  function remove({ query }: ServiceRequest): ServiceAnswer {
    if (!faults.keepsAll) memories = memories.filter(({ user_id: user }) => user !== query.get('user_id'));
    return { body: { message: 'Memories deleted successfully!' } };
  }

  const answer = (request: ServiceRequest): ServiceAnswer => {
    const event = /^\/v1\/event\/([^/]+)\/$/.exec(request.path)?.[1];
    if (event !== undefined) return look(event);
    const routes: Record<string, (request: ServiceRequest) => ServiceAnswer> = {
      'POST /v3/memories/add/': add,
      'POST /v3/memories/': list,
      'POST /v3/memories/search/': search,
      'DELETE /v1/memories/': remove,
    };
    return routes[`${request.method} ${request.path}`]?.(request) ?? { status: 404, body: { error: 'no route' } };
  };
  const keyOf = ({ authorization = '' }: ServiceRequest['headers']) => authorization.replace(/^Token /, '');
  return startService({ apiKey: options.apiKey, keyOf, answer, faults });
}
