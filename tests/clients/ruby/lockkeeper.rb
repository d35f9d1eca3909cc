#   lockkeeper.rb - a client, written from lockkeeper-protocol(7) alone
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   It hears only what comes during its calls: ask held? ahead of each step.

require 'ffi-rzmq'
require 'json'

class Lockkeeper
  # state: asked, then granted or over; jeopardy, lost. told: the answer.
  HELD = %i[granted jeopardy safe].freeze
  Request = Struct.new(:serial, :command, :fields, :limit, :next, :state, :told)

  def initialize(endpoint, name = "ruby-#{$$}")
    @name, @host, @serial, @register_at = name, nil, 0, 0
    @requests, @events, @pages = {}, [], {}
    @socket = (@context = ZMQ::Context.new).socket(ZMQ::DEALER)
    @socket.setsockopt(ZMQ::LINGER, 1000)
    @socket.connect(endpoint).zero? or raise "cannot connect '#{endpoint}'"
    50.times { @host || pump(100) }
    @host or raise "'#{endpoint}': #{@refused || 'no answer'}"
  end

  # Asks with the fields of LOCK; settle, or an event, has what came of it.
  def lock(fields) = ask('LOCK', { pid: $$, **fields })
  def call(command, **fields) = settle(ask(command, fields))
  def close = say('router@.', 'UNREGISTER', 0, nil) && @socket.close

  def settle(request)
    pump(100) while request.state == :asked
    @events.reject! { |_, whose| whose == request }
    request.told
  end

  # Gives a lock back, or takes its request back.
  def release(lock)
    name = lock.fields.slice(:object, :object_hex, :zone, :context)
    leave(lock)
    call('UNLOCK', **name, request: lock.serial, **lock.told.slice('key'))
  end

  # Late answers find it for a while, and are not taken for strangers'.
  def leave(lock)
    lock.state = :over
    @requests.delete_if { |at, it| it.state == :over && at < @serial - 1000 }
    @events.reject! { |_, whose| whose == lock }
  end

  # [state, lock] of the next change, or nil.
  def event(ms)
    limit = now + ms
    pump((limit - now).clamp(0, 100)) until @events.any? || now >= limit
    @events.shift
  end

  def held?(lock) = pump(0) && HELD.include?(lock.state)

  private

  def now = Process.clock_gettime(Process::CLOCK_BOOTTIME, :millisecond)

  # The page's time is read first: it is 0 while the session is changed.
  def leased?(told)
    return false if told['until'].between?(0, now)
    return true if told['static']
    page = @pages[told['session']] ||= File.open(told['lease_page']) rescue nil
    limit = page&.pread(8, 16).to_s.unpack1('q').to_i
    now < limit && page.pread(8, 8).unpack1('Q') == told['session']
  end

  def ask(command, fields)
    limit = now + fields[:wait] if fields.fetch(:wait, -1) >= 0
    it = Request.new(@serial += 1, command, fields, limit, 0, :asked, {})
    (@requests[@serial] = it) && say_all && it
  end

  def say(to, command, serial, fields)
    texts = [to, "#{@name}@#{@host || '.'}", command]
    rest = (texts.join + (fields ? JSON.generate(fields) : '')).b
    head = ['LK', 1, fields ? 1 : 0, 20 + rest.size, serial, *texts.map(&:size)]
    @socket.send_string(head.pack('a2CCNQ>C3x') + rest, ZMQ::DONTWAIT)
  end

  # REGISTER is said all the time: so a restarted router knows of us.
  def say_all
    if now >= @register_at
      @register_at = now + 500
      say('router@.', 'REGISTER', 0, { service: @name, version: '1', pid: $$,
                                       application: true, subscribe: [] })
    end
    @requests.each_value do |it|
      next if !@host || it.state != :asked || now < it.next
      it.next = now + 1000
      it.fields[:wait] = [it.limit - now, 0].max if it.limit
      say('lock@.', it.command, it.serial, it.fields)
    end
  end

  # Says what is due, hears what came or comes in ms, and looks at the leases.
  def pump(ms)
    say_all
    @socket.setsockopt(ZMQ::RCVTIMEO, ms)
    while @socket.recv_string(frame = +'') >= 0
      frame = hear_first(frame) while frame.to_s.bytesize >= 20
      @socket.setsockopt(ZMQ::RCVTIMEO, 0)
    end
    @requests.values.each do |it|
      lost = HELD.include?(it.state) && !leased?(it.told)
      late = it.state == :asked && it.limit && now > it.limit + 3000
      become(it, lost ? :lost : :over, 'error' => 'disconnected') if late | lost
      @requests.delete(it.serial) if late # LOCKED of it is given back
    end
  end

  # Takes the first message of a frame; what is left of it.
  def hear_first(frame)
    tag, version, flags, size, serial, *sizes = frame.unpack('a2CCNQ>C3')
    at = 20 + sizes.sum
    return if [tag, version] != ['LK', 1] || !size.between?(at, frame.bytesize)
    texts = frame[20..].unpack(sizes.map { |one| "a#{one}" }.join)
    body = frame[at...size]
    hear(*texts[1..], serial, flags & 3 == 1 ? JSON.parse(body) : {})
    frame[size..]
  end

  def hear(from, command, serial, body)
    it = @requests[serial]
    return unless from =~ /^router@/ || from == "lock@#{@host}"
    case command
    when 'READY' then @host = body['host']
    when 'REFUSE' then @refused = body['reason']
    when 'LOCKED'
      return ask('UNLOCK', { request: serial }) unless it
      become(it, :granted, body) if it.state == :asked
    when 'LOCKJEOPARDY'
      become(it, body['danger'] ? :jeopardy : :safe, {}) if it
    when 'LOCKFAILED', 'UNLOCKED', 'LOCKCHECK'
      become(it, it.state == :asked ? :over : :lost, body) if it
    end
  end

  def become(it, state, body)
    return if %i[over lost].include?(it.state)
    it.state, it.told = state, it.told.merge(body)
    it.command == 'LOCK' ? @events << [state, it] : @requests.delete(it.serial)
  end
end
