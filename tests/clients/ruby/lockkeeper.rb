#   lockkeeper.rb - a client, written from lockkeeper-protocol(7) alone
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

%w[ffi-rzmq json].each { |name| require name }

class Lockkeeper # hears what comes during its calls only: ask held? often
  # state: asked, held, over. next: when what is open is said again. change: of
  # type, if one is open. link, bound: of remote.rb
  Request = Struct.new(*%i[serial command fields state told users next limit
                           change link bound])
  Link = Struct.new(*%i[socket name host next]) # with a router
  NAME = %i[object object_hex zone context].freeze
  WHAT = { 'LOCKED' => %i[granted changed], 'LOCKFAILED' => %i[over unchanged],
           'UNLOCKED' => %i[over lost], 'LOCKCHECK' => %i[over] }.freeze

  def initialize(endpoint, name = "ruby-#{$$}")
    @name, @serial, @links = name, 0, []
    @requests, @events, @pages, @mine = {}, [], {}, {}
    @context, @poller = ZMQ::Context.new, ZMQ::Poller.new
    start(endpoint)
    50.times { ready? || pump(100) }
    ready? or raise "'#{endpoint}': #{@refused || 'no answer'}"
  end

  # Asks with the fields of LOCK; settle, or an event, has what came of it.
  def lock(fields)
    return ask('LOCK', { pid: $$, **fields }) unless fields.delete(:reentrant)
    @mine.delete_if { |_, it| it.state == :over }
    (@mine[fields.slice(:type, *NAME)] ||= lock(fields)).tap { _1.users += 1 }
  end

  def change(lock, type, wait) # of a lock that is held, in the same way
    turn = lock.told['turn'] = lock.told['turn'].to_i + 1
    lock.change = { type:, wait:, turn: }
    lock.limit, lock.next = nil, 0
    lock.tap { say_all }
  end

  def call(command, **fields) = settle(ask(command, fields))
  def held?(lock) = work && lock.state == :held
  def work = pump(0)

  def close
    say(@link, 'router@.', 'UNREGISTER', 0, nil)
    @links.dup.each { |link| hang_up(link) }
  end

  def settle(request)
    pump(100) while request.next
    @events.reject! { |_, whose| whose == request }
    request.told
  end

  def release(lock) # or takes its request back
    return {} if (lock.users -= 1).positive?
    leave(lock)
    key = lock.told.slice('key').transform_keys(&:to_sym)
    call('UNLOCK', **name_of(lock), request: lock.serial, **key)
  end

  def leave(lock) # late answers find it for a while, and are no strangers'
    lock.state, lock.next = :over, nil
    @requests.delete_if { |at, it| it.state == :over && at < @serial - 1000 }
    @events.reject! { |_, whose| whose == lock }
  end

  def event(ms) # [what, lock] of what happened next, or nil
    limit = now + ms
    pump((limit - now).clamp(0, 100)) until @events.any? || now >= limit
    @events.shift
  end

  private
  def now = Process.clock_gettime(Process::CLOCK_BOOTTIME, :millisecond)
  def name_of(it) = it.fields.slice(*NAME)
  def start(endpoint) = @link = dial(endpoint, @name)
  def ready? = @link.host

  def dial(endpoint, name, options = {})
    socket = @context.socket(ZMQ::DEALER)
    { ZMQ::LINGER => 1000, **options }.each { socket.setsockopt(_1, _2) }
    @poller.register_readable(socket) if socket.connect(endpoint).zero?
    self.class::Link.new(socket, name, nil, 0).tap { |link| @links << link }
  end

  def hang_up(link)
    @poller.delete(@links.delete(link).socket)
    link.socket.close
  end

  def loss(it) # why, or nil; the page's time is 0 as the session is changed
    told = it.told
    return 'timedout' if told['until'].between?(0, now)
    return if told['static']
    page = @pages[told['session']] ||= File.open(told['lease_page']) rescue nil
    limit = page&.pread(8, 16).to_s.unpack1('q').to_i
    return if now < limit && page.pread(8, 8).unpack1('Q') == told['session']
    'disconnected'
  end

  def ask(command, fields)
    it = Request.new(@serial += 1, command, fields, :asked, {}, 0, 0)
    (@requests[@serial] = it) && say_all && it
  end

  def say(link, to, command, serial, fields)
    texts = [to, "#{link.name}@#{link.host || '.'}", command]
    rest = (texts.join + (fields ? JSON.generate(fields) : '')).b
    head = ['LK', 1, fields ? 1 : 0, 20 + rest.size, serial, *texts.map(&:size)]
    link.socket.send_string(head.pack('a2CCNQ>C3x') + rest, ZMQ::DONTWAIT)
  end

  def say_all
    @links.each { |link| keep(link) }
    @requests.each_value do |it|
      next if !ready? || !it.next || now < it.next
      it.next, fields = now + 1000, it.change || it.fields
      it.limit ||= now + fields[:wait] if fields.fetch(:wait, -1) >= 0
      fields[:wait] = [it.limit - now, 0].max if it.limit
      say(@link, 'lock@.', it.command, it.serial, wording(it))
    end
  end

  def keep(link) # REGISTER all the time: so a restarted router knows of us
    return if now < link.next
    link.next = now + 500
    say(link, 'router@.', 'REGISTER', 0, { service: link.name, version: '1',
                                           pid: $$, application: true })
  end

  def wording(it)
    it.change ? { pid: $$, **name_of(it), **it.change } : it.fields
  end

  def pump(ms) # says what is due, hears what came or comes, looks at the leases
    say_all
    @poller.poll(ms)
    @poller.readables.dup.each do |socket|
      while (link = @links.find { _1.socket == socket }) &&
            socket.recv_string(frame = +'', ZMQ::DONTWAIT) >= 0
        frame = hear_first(link, frame) while frame.to_s.bytesize >= 20
      end
    end
    @requests.values.each do |it|
      lost = it.state == :held && loss(it)
      late = 'disconnected' if it.state == :asked && it.limit&.<(now - 3000)
      become(it, lost ? :lost : :over, 'error' => lost || late) if lost || late
      @requests.delete(it.serial) if late # LOCKED of it is given back
    end
  end

  def hear_first(link, frame) # what is left of a frame behind its first message
    tag, version, flags, size, serial, *sizes = frame.unpack('a2CCNQ>C3')
    at = 20 + sizes.sum
    return if [tag, version] != ['LK', 1] || !size.between?(at, frame.bytesize)
    texts = frame[20..].unpack(sizes.map { |one| "a#{one}" }.join)
    body = flags & 3 == 1 ? JSON.parse(frame[at...size]) : {}
    hear(link, *texts[1..], @requests[serial], serial, body)
    frame[size..]
  end

  def hear(link, from, command, it, serial, body)
    return unless from =~ /^router@/ || from == "lock@#{link.host}"
    case command
    when 'READY' then link.host = body['host']
    when 'REFUSE' then @refused = body['reason']
    when 'LOCKJEOPARDY'
      @events << [body['danger'] ? :jeopardy : :safe, it] if it&.state == :held
    when *WHAT.keys
      return become(it, WHAT[command][it.state == :asked ? 0 : 1], body) if it
      ask('UNLOCK', { request: serial }) if command == 'LOCKED'
    end
  end

  def become(it, what, body) # but what was said to a former change
    return if it.state == :over || what.end_with?('changed') &&
              !(it.change && it.change[:turn] == body['turn'])
    it.next, it.change = nil, nil
    it.state = %i[over lost].include?(what) ? :over : :held
    it.told = it.told.except('error').merge(body)
    it.command == 'LOCK' ? @events << [what, it] : @requests.delete(it.serial)
  end
end
