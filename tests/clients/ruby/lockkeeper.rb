# frozen_string_literal: true

#   lockkeeper.rb - a client, written from lockkeeper-protocol(7) alone
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   It has one thread and does nothing behind your back: what comes is taken
#   by the calls below. So ask held? ahead of each step that needs the lock.

require 'ffi-rzmq'
require 'json'

class Lockkeeper
  # A request, and the lock that it became; its serial is its name. told is the
  # body of its LOCKED, error and reason say why it is none.
  Lock = Struct.new(:serial, :state, :told, :turn, :error, :reason)

  def initialize(endpoint, name = "ruby-#{$$}")
    @name, @host, @serial, @register_at = name, nil, 0, 0
    @open, @locks, @answers, @events, @pages = {}, {}, {}, [], {}
    @socket = (@context = ZMQ::Context.new).socket(ZMQ::DEALER)
    @socket.setsockopt(ZMQ::LINGER, 1000)
    @socket.connect(endpoint) == 0 or raise "cannot connect '#{endpoint}'"
    began = now
    pump(100) until @host || (@refused && !@refused.start_with?('name is taken')) || now - began > 5000
    @host or raise @refused || "'#{endpoint}' does not answer"
  end

  def close
    send('router@.', 'UNREGISTER', 0, nil)
    @socket.close
    @context.terminate
  end

  # The name of a lock: a text, or its bytes in hexadecimal digits.
  def object(name)
    text = name.dup.force_encoding('UTF-8')
    plain = text.valid_encoding? && !text.include?("\0")
    plain ? { object: text } : { object_hex: name.unpack1('H*') }
  end

  # Asks for a lock; fields are those of LOCK. An event or settle has the rest.
  def lock(fields)
    lock = Lock.new(@serial += 1, :asked, {}, 0, 'ok', '')
    ask('LOCK', { pid: $$, **fields }, @locks[lock.serial] = lock)
  end

  # Another type for a lock that is held; its error says what became of it.
  def change(lock, type, wait)
    names = lock.told.slice('object', 'object_hex', 'zone', 'context')
    ask('LOCK', { **names, type:, wait:, turn: lock.turn += 1 }, lock)
  end

  # Waits for what was asked; what is not answered in time is taken back.
  def settle(lock)
    pump(100) while @open[lock.serial]
    @events.reject! { |_, whose, _| whose == lock }
    lock.error
  end

  # Gives it back, or takes the request back.
  def release(lock)
    @open.delete(lock.serial)
    forget(lock)
    call('UNLOCK', request: lock.serial, **lock.told.slice('key'))
  end

  def forget(lock) = @locks.delete(lock.serial)

  # Any other message with a serial: its answer.
  def call(command, **fields)
    serial = @serial += 1
    ask(command, fields, Lock.new(serial))
    pump(100) while @open[serial]
    @answers.delete(serial)
  end

  # [what, lock, error], what being granted, failed, changed, unchanged, lost,
  # jeopardy or safe; nil if nothing comes in these ms.
  def event(ms)
    limit = now + ms
    pump([limit - now, 100].min) until @events.any? || now >= limit
    @events.shift
  end

  def held?(lock)
    pump(0)
    lock.state == :held && leased?(lock.told)
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_BOOTTIME, :millisecond)

  # The page's time is read first: it is 0 while its session is changed.
  def leased?(told)
    return false if told['until'] >= 0 && now >= told['until']
    return true if told['static']
    page = @pages[told['lease_page']] ||= File.open(told['lease_page'])
    limit = page.pread(8, 16).unpack1('q')
    page.pread(8, 8).unpack1('Q') == told['session'] && now < limit
  end

  def ask(command, fields, lock)
    limit = now + fields[:wait] if fields.fetch(:wait, -1) >= 0
    @open[lock.serial] = { command:, fields:, limit:, next: 0 }
    pump(0)
    lock
  end

  def send(to, command, serial, fields)
    body = fields ? JSON.generate(fields) : ''
    texts = [to, "#{@name}@#{@host || '.'}", command]
    sizes = texts.map(&:bytesize)
    size = 20 + sizes.sum + body.bytesize
    head = ['LK', 1, fields ? 1 : 0, size, serial, *sizes, 0].pack('a2CCNQ>C4')
    @socket.send_string(head + texts.join + body.b, ZMQ::DONTWAIT)
  end

  # Says again what is not answered, and takes what has come, or comes in ms.
  def pump(ms)
    if now >= @register_at
      send('router@.', 'REGISTER', 0, service: @name, version: '1', pid: $$,
                                      application: true, subscribe: [])
      @register_at = now + 500
    end
    repeat if @host
    @socket.setsockopt(ZMQ::RCVTIMEO, ms)
    read(frame) while @socket.recv_string(frame = +'') >= 0 && @socket.setsockopt(ZMQ::RCVTIMEO, 0)
    ...
  end
end
