// The WebSocket of this tab: requests with their answers, and topics with their states.
//
//   lost ──open──> open ──close──> lost ──(after a pause)──> open …
//
// A lost connection rejects open requests; the next one subscribes to all topics again.
import type { Answer, Command, ApiError, DamagedFile, ToTab, Topic, TopicState } from '../api/wire';
import { applyDelta, fromState, type Model } from './apply';

/** Why a request failed. */
export class RequestError extends Error {
  readonly details: ApiError;

  constructor(details: ApiError) {
    super(details.error.code);
    this.details = details;
  }
}

/** The error of an unreachable server. */
export const OFFLINE: ApiError = { category: 'conflict', error: { code: 'no_response' } };

/** The used part of a WebSocket. */
export interface Socket {
  addEventListener(kind: 'open' | 'close', act: () => void): void;
  addEventListener(kind: 'message', act: (event: { data: unknown }) => void): void;
  send(text: string): void;
}

/** Dependencies of a connection, replaced in tests. */
export interface Environment {
  open(): Socket;
  later(milliseconds: number, act: () => void): void;
  /** Called for a server of another version. */
  outdated(): void;
  /** Called for each connection, with the version of the server. */
  handshake(version: string, damaged: DamagedFile[]): void;
}

interface Subscription {
  number: number;
  model: Model | undefined;
  closed: boolean;
  listeners: Set<Listener>;
}

/** Receives the state of a topic: undefined until it is known, `closed` when it no longer exists. */
export type Listener = (model: Model | undefined, closed: boolean) => void;

const MIN_PAUSE = 200;
const MAX_PAUSE = 5000;

export class Connection {
  #environment: Environment;
  #socket: Socket | null = null;
  #open = false;
  #pause = MIN_PAUSE;
  #next = 1;
  #version: string | null = null;
  #waiting = new Map<number, { done: (answer: Answer) => void; failed: (error: RequestError) => void }>();
  #topics = new Map<Topic, Subscription>();
  #onStatus: (open: boolean) => void;

  constructor(environment: Environment, onStatus: (open: boolean) => void) {
    this.#environment = environment;
    this.#onStatus = onStatus;
    this.#connect();
  }

  /** Sends a command. Fails with `RequestError`. */
  request(command: Command): Promise<Answer> {
    return new Promise((done, failed) => {
      if (!this.#open || !this.#socket) {
        failed(new RequestError(OFFLINE));
        return;
      }
      const id = this.#next++;
      this.#waiting.set(id, { done, failed });
      this.#socket.send(JSON.stringify({ id, command }));
    });
  }

  /** Subscribes to a topic; returns a function that unsubscribes. */
  watch(topic: Topic, listener: Listener): () => void {
    let subscription = this.#topics.get(topic);
    if (!subscription) {
      subscription = { number: -1, model: undefined, closed: false, listeners: new Set() };
      this.#topics.set(topic, subscription);
      this.#announce({ kind: 'subscribe', topic });
    }
    subscription.listeners.add(listener);
    listener(subscription.model, subscription.closed);
    const current = subscription;
    return () => {
      current.listeners.delete(listener);
      if (current.listeners.size === 0 && this.#topics.get(topic) === current) {
        this.#topics.delete(topic);
        this.#announce({ kind: 'unsubscribe', topic });
      }
    };
  }

  /** Connects immediately instead of after the pause. */
  retry() {
    this.#pause = MIN_PAUSE;
    if (!this.#socket) this.#connect();
  }

  #connect() {
    const socket = this.#environment.open();
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#open = true;
      this.#pause = MIN_PAUSE;
      for (const topic of this.#topics.keys()) this.#announce({ kind: 'subscribe', topic });
      this.#onStatus(true);
    });
    socket.addEventListener('message', (event) => {
      if (typeof event.data === 'string') this.#receive(JSON.parse(event.data) as ToTab);
    });
    socket.addEventListener('close', () => {
      this.#open = false;
      this.#socket = null;
      const error = new RequestError(OFFLINE);
      for (const { failed } of this.#waiting.values()) failed(error);
      this.#waiting.clear();
      this.#onStatus(false);
      this.#environment.later(this.#pause, () => {
        if (!this.#socket) this.#connect();
      });
      this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
    });
  }

  /** Sends without waiting: a subscription is answered by a snapshot. */
  #announce(command: Command & { kind: 'subscribe' | 'unsubscribe' }) {
    if (!this.#open) return;
    this.request(command).catch(() => {
      // The topic does not exist, or the connection was lost and will be opened again.
      if (this.#open && command.kind === 'subscribe') this.#close(command.topic);
    });
  }

  #receive(message: ToTab) {
    switch (message.kind) {
      case 'handshake':
        if (this.#version !== null && this.#version !== message.version) this.#environment.outdated();
        this.#version = message.version;
        this.#environment.handshake(message.version, message.damaged);
        return;
      case 'answer':
        this.#waiting.get(message.id)?.done(message.answer);
        this.#waiting.delete(message.id);
        return;
      case 'error':
        this.#waiting.get(message.id)?.failed(new RequestError(message.error));
        this.#waiting.delete(message.id);
        return;
      case 'snapshot': {
        const subscription = this.#topics.get(message.topic);
        if (!subscription) return;
        subscription.number = message.number;
        subscription.closed = false;
        this.#notify(subscription, fromState(message.state as TopicState, Date.now()));
        return;
      }
      case 'delta': {
        const subscription = this.#topics.get(message.topic);
        if (!subscription || !subscription.model) return;
        if (message.number !== subscription.number + 1) {
          subscription.model = undefined;
          this.#announce({ kind: 'subscribe', topic: message.topic });
          return;
        }
        subscription.number = message.number;
        this.#notify(subscription, applyDelta(subscription.model, message.delta, Date.now()));
        return;
      }
      case 'closed':
        this.#close(message.topic);
    }
  }

  #close(topic: Topic) {
    const subscription = this.#topics.get(topic);
    if (!subscription) return;
    subscription.closed = true;
    this.#notify(subscription, undefined);
  }

  #notify(subscription: Subscription, model: Model | undefined) {
    subscription.model = model;
    for (const listener of subscription.listeners) listener(model, subscription.closed);
  }
}
