#   remote.rb - the same on a machine without a router, from the same page
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

require 'securerandom'
require_relative 'lockkeeper'

class Lockkeeper::Remote < Lockkeeper # by a client file; call work often
  # A registration, and the connection that it came by. place: of its server.
  # ask_at: when its lease, or for it, is asked next. until: that of its lease.
  Link = Struct.new(*Lockkeeper::Link.members,
                    *%i[place number drawn lease ask_at until begun])
  LEASE = 8000
  Z85 = [*'0'..'9', *'a'..'z', *'A'..'Z', *'.-:+=^!/*?&<>()[]{}@%$#'.chars].freeze

  def close # without which others wait until we are silent
    @links.each { |link| tell(link, 'LOCKGOODBYE') if link.drawn }
    super
  end

  def release(lock) # by our clock it was late, whatever the server's says
    late = { 'late' => true } if lock.state == :over &&
                                 lock.told['error'] == 'timedout'
    { **super, **late.to_h }
  end

  private
  def ready? = @link
  def name_of(it) = it.fields.slice(:locks, *NAME) # other servers need all

  def start(file)
    lines = File.read(file).scan(/^ +([a-z-]+) *= *"?([^"\n]+)/)
    @servers = lines.filter_map { |key, value| value.split if key == 'server' }
    @keys = lines.to_h.slice('public-key', 'secret-key').values
    first = @keys[0][..9].chars.each_slice(5).map do |five|
      five.reduce(0) { |sum, one| sum * 85 + Z85.index(one) }
    end
    @name = format('far-%08x%08x-%s-%s', *first, @name, SecureRandom.hex(4))
    @secret, @secret2, @number = SecureRandom.hex(8), SecureRandom.hex(8), 0
    try(0)
  end

  def try(place) # to register with that server; a former attempt is over
    tell(@tried, 'LOCKGOODBYE') if @tried&.drawn
    hang_up(@tried) if @tried
    address, key = @servers[place %= @servers.size]
    @tried = dial(address, "#{@name}-#{@number += 1}",
                  ZMQ::CURVE_PUBLICKEY => @keys[0],
                  ZMQ::CURVE_SECRETKEY => @keys[1], ZMQ::CURVE_SERVERKEY => key)
    @tried.place, @tried.number, @tried.begun = place, @number, now
    @tried.until = @tried.ask_at = 0
  end

  def say_all
    silent = @link && now > @link.until - @link.lease * 3 / 5
    if @leave || (@tried ? now > @tried.begun + 1000 : silent)
      try((@tried || @link).place + (@leave || 1))
      @leave = nil
    end
    super
  end

  def keep(link)
    super
    return if !link.host || now < link.ask_at
    link.ask_at = now + (link.drawn ? (link.lease || LEASE) / 6 : 300)
    return tell(link, 'LOCKLEASE', sent: now) if link.drawn
    tell(link, 'LOCKREGISTER', lease: LEASE, sent: now, secret: @secret,
                               secret2: @secret2)
  end

  def here(link) = { registration: link.number, drawn: link.drawn }.compact

  def tell(link, command, **fields)
    say(link, 'lock@.', command, link.number, { **here(link), **fields })
  end

  def hear(link, from, command, it, serial, body)
    return super unless from.start_with?('lock@')
    return unless from == "lock@#{link.host}" &&
                  body['registration'] == link.number &&
                  (link.drawn ||= body['drawn']) == body['drawn']
    case command
    when 'LOCKREGISTER' then link.lease, link.ask_at = body['lease'], 0
    when 'LOCKLEASE'
      link.lease = body['left']
      link.until = [link.until, body['sent'] + body['left']].max
      move if link == @tried
    when 'LOCKUNREGISTERED', 'LOCKMOVE'
      @leave = command == 'LOCKMOVE' ? 1 : 0 if link == (@tried || @link)
    when *WHAT.keys
      return if link != @link
      it && claims?(it) ? claimed(it, command, body) : super
      it.link = link if it
    end
  end

  # All is asked for, and claimed, in the new registration alone.
  def move
    @requests.each_value do |it|
      it.bound = it.state == :held ? believed_until(it) : 0
    end
    hang_up(@link) if @link
    @link, @tried = @tried, nil
    @requests.values.each do |it|
      it.next = 0 if it.next || claims?(it)
      begin_anew(it) if it.state == :asked && it.link && it.fields[:locks] &&
                        it.command == 'LOCK'
    end
  end

  def believed_until(it)
    [it.bound || 0, it.link == @link ? @link.until : 0].max
  end

  def loss(it)
    left, as_of, static = it.told.values_at('left', 'as_of', 'static')
    return 'timedout' if left >= 0 && now >= as_of + left
    'disconnected' unless static || now < believed_until(it)
  end

  # It is held, and this registration was not told LOCKED of it.
  def claims?(it)
    it.state == :held && it.link != @link && !it.told['static']
  end

  def claimed(it, command, body)
    return become(it, :lost, body) unless command == 'LOCKED'
    it.told, it.next = it.told.merge(body), (0 if it.change)
  end

  # A set that waits has some of its locks at the former server.
  def begin_anew(it)
    ask('UNLOCK', { request: it.serial, **name_of(it) })
    @requests.delete(it.serial)
    it.serial, it.link = @serial += 1, nil
    @requests[it.serial] = it
  end

  def wording(it)
    return { **super, **here(@link) } if it.command != 'LOCK'
    here = { **here(@link), sent: now }
    return { **claim(it), **here } if claims?(it)
    former = it.link if it.state == :asked
    it.link ||= @link
    here[:again] = true if former && former != @link
    { **super, **here }
  end

  def claim(it)
    told = it.told.transform_keys(&:to_sym)
    claim = { **it.fields, **told.slice(:type, :key, :token, :locks),
              again: true, left: it.bound - now }
    rest = told[:left].negative? ? 0 : told[:as_of] + told[:left] - now
    told[:locks] ? { **claim, duration: rest } : claim
  end
end
